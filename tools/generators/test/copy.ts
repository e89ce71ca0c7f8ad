import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Tree } from '../src/service.generator.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const LEFT_OUT = ['node_modules', 'dist', '.git', '.nx', '.tollkeeper', '.cache'];

/** A copy of the workspace for one test, and its files as a generator sees them. */
export interface Copy {
  root: string;
  tree: Tree;
  /** Does what `npm install` does for a new npm workspace. */
  link(app: string): void;
  remove(): void;
}

export function copyWorkspace(): Copy {
  const root = mkdtempSync(join(tmpdir(), 'tollkeeper-new-service-'));
  // Links of the chart lead to the copy, and not back to the original.
  cpSync(ROOT, root, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !LEFT_OUT.includes(basename(path)),
  });
  linkPackages(root);
  return {
    root,
    tree: {
      exists: (path) => existsSync(join(root, path)),
      read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null),
      write(path, text) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      },
    },
    link: (app) => symlinkSync(join(root, 'apps', app), join(root, 'node_modules/@tollkeeper', app)),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Links npm's packages to those here, and the workspace's packages to those of the copy. */
function linkPackages(root: string): void {
  const [from, to] = [join(ROOT, 'node_modules'), join(root, 'node_modules')];
  mkdirSync(join(to, '@tollkeeper'), { recursive: true });
  for (const name of readdirSync(from).filter((each) => each !== '@tollkeeper'))
    symlinkSync(join(from, name), join(to, name));
  for (const folder of ['apps', 'libs', 'tools']) {
    for (const project of readdirSync(join(root, folder))) {
      const own = join(folder, project, 'node_modules');
      if (existsSync(join(ROOT, own))) symlinkSync(join(ROOT, own), join(root, own));
      if (!existsSync(join(root, folder, project, 'package.json'))) continue;
      const { name } = JSON.parse(readFileSync(join(root, folder, project, 'package.json'), 'utf8')) as {
        name: string;
      };
      symlinkSync(join(root, folder, project), join(to, name));
    }
  }
}
