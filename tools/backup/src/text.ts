const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

export function sizeOf(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
