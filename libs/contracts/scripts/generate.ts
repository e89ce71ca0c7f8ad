import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';

const PROTO_ROOT = join(import.meta.dirname, '../../../proto');
const BUF = join(PROTO_ROOT, '../node_modules/.bin/buf');
export const GENERATED_DIRECTORY = join(import.meta.dirname, '../src/gen');

/**
 * Generates code from the proto files into `directory`, replacing its contents: one TypeScript type per message, and
 * two files so that no .proto file is read at run time. `descriptor.json` is in the JSON format of protobuf.js, and
 * `files.json` has each file as gRPC reflection describes it.
 */
export function generate(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const protoFiles = readdirSync(PROTO_ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.proto') && !path.includes('node_modules'))
    .sort();
  generateTypes(protoFiles, directory);
  writeJson(join(directory, 'descriptor.json'), describe(protoFiles));
  writeJson(join(directory, 'files.json'), describeFiles());
}

function writeJson(path: string, content: unknown): void {
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

function generateTypes(protoFiles: string[], directory: string): void {
  const tool = createRequire(import.meta.url).resolve('@grpc/proto-loader/build/bin/proto-loader-gen-types.js');
  // Must match the options with which services.ts loads the descriptor.
  const options = ['--longs=Number', '--enums=String', '--defaults', '--oneofs'];
  const style = ['--includeComments', '--importFileExtension=.ts', '--targetFileExtension=.ts'];
  const paths = ['--grpcLib=@grpc/grpc-js', '-I', '.', '-O', directory];
  // Relative paths, because the tool writes them into its output. It finds what the services import.
  const withServices = protoFiles.filter((path) => /^service /m.test(readFileSync(join(PROTO_ROOT, path), 'utf8')));
  execFileSync(process.execPath, [tool, ...options, ...style, ...paths, ...withServices], {
    cwd: PROTO_ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function describe(protoFiles: string[]): protobuf.INamespace {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => join(PROTO_ROOT, target);
  return root.loadSync(protoFiles, { keepCase: false }).toJSON();
}

/** By their names, with those that they import. protobuf.js knows neither, so buf compiles them. */
function describeFiles(): object {
  const options = ['--as-file-descriptor-set', '--exclude-source-info', '--output', '-#format=binpb'];
  const set = execFileSync(BUF, ['build', PROTO_ROOT, ...options]);
  const { FileDescriptorSet, FileDescriptorProto } = descriptor;
  const { file } = FileDescriptorSet.toObject(FileDescriptorSet.decode(set), { arrays: true }) as { file: FileFacts[] };
  const described = file.map((one) => {
    const services = one.service.map(({ name, method }) => ({ name, nestedType: method }));
    const symbols = namesIn(one.package, [...one.messageType, ...one.enumType, ...services]);
    const bytes = FileDescriptorProto.encode(one).finish();
    return [one.name, { imports: one.dependency, symbols, descriptor: Buffer.from(bytes).toString('base64') }];
  });
  return Object.fromEntries(described);
}

interface FileFacts {
  name: string;
  package: string;
  dependency: string[];
  messageType: Named[];
  enumType: Named[];
  service: { name: string; method: Named[] }[];
}

interface Named {
  name: string;
  nestedType?: Named[];
  enumType?: Named[];
}

/** The full names of what is declared in a scope, such as messages, and of what is declared in that. */
function namesIn(scope: string, declared: readonly Named[]): string[] {
  return declared.flatMap(({ name, nestedType = [], enumType = [] }) => {
    const full = `${scope}.${name}`;
    return [full, ...namesIn(full, [...nestedType, ...enumType])];
  });
}

if (import.meta.main) generate(GENERATED_DIRECTORY);
