/** The words in figures. `dates` and `numbers` are BCP 47 tags for their format. */
export const formats = {
  dates: 'en-GB',
  numbers: 'en',
  seconds: (count: number) => `${count} s`,
  minutes: (count: number) => `${count} min`,
  hours: (count: number) => `${count} h`,
  days: (count: number) => `${count} d`,
  justNow: 'just now',
  ago: (time: string) => `${time} ago`,
  ahead: (time: string) => `in ${time}`,
};
