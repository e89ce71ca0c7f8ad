import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const PROTO_ROOT = join(import.meta.dirname, '../../../proto');
export const GENERATED_DIRECTORY = join(import.meta.dirname, '../src/gen');

function runTool(script: string, args: string[], cwd: string): void {
  execFileSync(process.execPath, [require.resolve(script), ...args], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

/**
 * Writes what the proto files say into `directory`, replacing what is there: one TypeScript type per message, and
 * `descriptor.json`, a `google.protobuf.FileDescriptorSet`, so that nothing reads a .proto file at run time.
 */
export function generate(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const protoFiles = readdirSync(PROTO_ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.proto') && !path.includes('node_modules'))
    .sort();
  // The flags agree with the options that services.ts loads the descriptor with.
  const flags = ['--longs=String', '--enums=String', '--defaults', '--oneofs', '--includeComments'];
  const files = ['--importFileExtension=.ts', '--targetFileExtension=.ts', '--grpcLib=@grpc/grpc-js', '-I', '.'];
  runTool(
    '@grpc/proto-loader/build/bin/proto-loader-gen-types.js',
    [...flags, ...files, '-O', directory, ...protoFiles],
    PROTO_ROOT,
  );
  const output = `${join(directory, 'descriptor.json')}#format=json`;
  runTool(
    '@bufbuild/buf/bin/buf',
    ['build', '--as-file-descriptor-set', '--exclude-source-info', '-o', output],
    PROTO_ROOT,
  );
}

if (import.meta.main) generate(GENERATED_DIRECTORY);
