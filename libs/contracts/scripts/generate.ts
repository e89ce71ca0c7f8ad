import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import protobuf from 'protobufjs';

const PROTO_ROOT = join(import.meta.dirname, '../../../proto');
export const GENERATED_DIRECTORY = join(import.meta.dirname, '../src/gen');

/**
 * Generates code from the proto files into `directory`, replacing its contents: one TypeScript type per message, and
 * `descriptor.json` in the JSON format of protobuf.js, so that no .proto file is read at run time.
 */
export function generate(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const protoFiles = readdirSync(PROTO_ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.proto') && !path.includes('node_modules'))
    .sort();
  generateTypes(protoFiles, directory);
  writeFileSync(join(directory, 'descriptor.json'), `${JSON.stringify(describe(protoFiles), null, 2)}\n`);
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

if (import.meta.main) generate(GENERATED_DIRECTORY);
