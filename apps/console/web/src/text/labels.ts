export const labels = {
  title: 'Labels',
  format: 'One per line, such as team=growth.',
  edit: 'Edit labels',
  editTitle: (name: string) => `Edit labels of ${name}`,
  filter: {
    only: 'Only calls with',
    clear: 'Clear filter',
    label: 'Label',
    value: 'Value',
    apply: 'Filter',
  },
  saved: (name: string) => `Labels of ${name} saved`,
  problems: {
    form: (line: number) => `Line ${line}: Enter a name, “=” and a value, such as team=growth.`,
    name: (line: number) =>
      `Line ${line}: A name starts with a lowercase letter and has at most 32 characters: a–z, 0–9, “_”, “.” and “-”.`,
    value: (line: number) => `Line ${line}: A value has 1 to 128 printable characters.`,
    taken: (line: number, name: string, first: number) =>
      `Line ${line}: “${name}” already has a value on line ${first}.`,
    many: (line: number, most: number) => `Line ${line}: At most ${most} labels are allowed.`,
  },
};
