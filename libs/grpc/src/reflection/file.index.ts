import { protoFiles } from '@tollkeeper/contracts';

/** The proto files that declare some services, with all that these import. */
export interface FileIndex {
  /** The file that declares a service, a method, a message or an enum. */
  declaring(symbol: string): string | undefined;
  /** The file and all that it imports, compiled. */
  compiled(file: string): Buffer[] | undefined;
}

/** Of no other services, so that a server describes only what it serves. */
export function createFileIndex(services: ReadonlySet<string>): FileIndex {
  const compiled = new Map<string, Buffer[]>();
  const declaring = new Map<string, string>();

  function add(file: string): void {
    if (compiled.has(file)) return;
    const { symbols, imports } = fileOf(file);
    const all = [...withImports(file)];
    compiled.set(
      file,
      all.map((one) => Buffer.from(fileOf(one).descriptor, 'base64')),
    );
    for (const symbol of symbols) declaring.set(symbol, file);
    imports.forEach(add);
  }
  for (const [file, { symbols }] of Object.entries(protoFiles)) {
    if (symbols.some((symbol) => services.has(symbol))) add(file);
  }
  return { declaring: (symbol) => declaring.get(symbol), compiled: (file) => compiled.get(file) };
}

function withImports(file: string, found = new Set<string>()): Set<string> {
  found.add(file);
  for (const imported of fileOf(file).imports) if (!found.has(imported)) withImports(imported, found);
  return found;
}

function fileOf(name: string) {
  const file = protoFiles[name];
  if (file === undefined) throw new Error(`There is no proto file ${name}`);
  return file;
}
