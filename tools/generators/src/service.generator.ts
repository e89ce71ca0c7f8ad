import { format, resolveConfig } from 'prettier';
import { appFiles } from './service.files.ts';
import { addToPlaces, type Texts } from './service.places.ts';
import type { NewService } from './service.ts';

/** The part of Nx's file tree that is used here. Changes reach the disk only when the generator has ended. */
export interface Tree {
  exists(path: string): boolean;
  read(path: string, encoding: 'utf-8'): string | null;
  write(path: string, text: string): void;
}

/** As defined in service.schema.json. */
export interface ServiceOptions {
  name: string;
  purpose: string;
  http?: boolean;
  grpc?: boolean;
  mongodb?: boolean;
  calls?: string;
}

/**
 * Creates a service's skeleton and adds it to every file that lists all services. If that is impossible, throws before
 * writing.
 */
export default async function generateService(tree: Tree, options: ServiceOptions): Promise<() => void> {
  const service = toService(tree, options);
  const texts = new Map<string, string>();
  const workspace: Texts = {
    read(path) {
      const text = texts.get(path) ?? tree.read(path, 'utf-8');
      if (text === null) throw new Error(`There is no ${path}`);
      return text;
    },
    write: (path, text) => void texts.set(path, text),
  };
  for (const [path, text] of Object.entries(appFiles(service))) workspace.write(`apps/${service.name}/${path}`, text);
  addToPlaces(workspace, service);
  for (const [path, text] of texts) tree.write(path, await formatted(path, text));
  return () => console.log(`\nNow run npm install, and go on in docs/new-service.md.`);
}

function toService(tree: Tree, options: ServiceOptions): NewService {
  const { name, purpose, http = true, grpc = false, mongodb = false, calls = '' } = options;
  if (!/^[a-z]{2,20}$/.test(name)) throw new Error(`${name} is no name of a service: 2 to 20 lower-case letters`);
  if (tree.exists(`apps/${name}/package.json`)) throw new Error(`There is an app ${name} already`);
  if (!http && !grpc) throw new Error('A service has an HTTP server, a gRPC server, or both');
  if (!/^[^\n|*]{1,60}$/.test(purpose)) throw new Error('The purpose is a sentence of at most 60 characters');
  const peers = calls.split(',').map((peer) => peer.trim());
  return { name, purpose: purpose.replace(/\.$/, ''), http, grpc, mongodb, calls: peers.filter((peer) => peer !== '') };
}

async function formatted(path: string, text: string): Promise<string> {
  const style = await resolveConfig(path);
  return format(text, { ...style, filepath: path });
}
