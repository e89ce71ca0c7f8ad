import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Labels, Manifest } from './manifest.ts';
import { composeSpec, kustomize } from './tools.ts';

export const ROOT = resolve(import.meta.dirname, '../../..');

/** The secrets that docs/deployment.md puts into .env and secrets.env. Not random, for rendering only. */
export const SAMPLE_SECRETS: Labels = {
  CALLER_TOKEN_SECRET: 'c'.repeat(44),
  CHANNEL_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  FIRST_OWNER_EMAIL: 'owner@example.com',
  FIRST_OWNER_PASSWORD: 'random-to-nobody-24-long',
};

/** The optional ones. */
export const OPTIONAL_SECRETS: Labels = {
  OIDC_PROVIDERS: '[]',
  SMTP_URL: 'smtps://tollkeeper:secret@mail.example.com',
};

export interface Rendered {
  manifests: Manifest[];
  yaml: string;
}

/**
 * Builds an overlay with further `components` of k8s/components, in a copy that has secrets.env. `root` has the files
 * of the repository, in this version or in a former one.
 */
export async function renderOverlay(overlay: string, components: string[] = [], root = ROOT): Promise<Rendered> {
  const copy = await mkdtemp(join(tmpdir(), 'tollkeeper-k8s-'));
  try {
    await cp(join(root, 'k8s'), copy, { recursive: true });
    await writeFile(join(copy, 'overlays/local/secrets.env'), toEnvFile(SAMPLE_SECRETS));
    let folder = join(copy, 'overlays', overlay);
    if (components.length > 0) {
      folder = await mkdtemp(join(copy, 'overlays', 'with-components-'));
      await writeFile(join(folder, 'kustomization.yaml'), toKustomization(overlay, components));
    }
    const { exitCode, stdout, stderr } = await kustomize(['build', folder]);
    // Kustomize reports deprecations only as warnings.
    if (exitCode !== 0 || stderr !== '') throw new Error(`kustomize build k8s/overlays/${overlay}: ${stderr}`);
    return { manifests: parseAllDocuments(stdout).map((document) => document.toJS() as Manifest), yaml: stdout };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

function toEnvFile(values: Labels): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function toKustomization(overlay: string, components: string[]): string {
  return JSON.stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [`../${overlay}`],
    components: components.map((component) => `../../components/${component}`),
  });
}

/** The parts of a Compose service that are used here, in the normal form of the specification. */
export interface ComposeService {
  image: string;
  build?: { args: Labels };
  command?: string[];
  environment?: Labels;
  ports?: { published: string; target: number; host_ip?: string }[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck: { test: string[] };
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  stop_grace_period?: string;
}

/** docker-compose.yml with `environment` for its variables, as `docker compose config` would print it. */
export async function renderCompose(environment: Labels): Promise<Record<string, ComposeService>> {
  const source = await readFile(join(ROOT, 'docker-compose.yml'), 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'tollkeeper-compose-'));
  try {
    const file = join(folder, 'docker-compose.yml');
    await writeFile(file, substitute(source, environment));
    const { exitCode, stdout, stderr } = await composeSpec(['--format', 'json', file]);
    if (exitCode !== 0) throw new Error(`docker-compose.yml: ${stderr}`);
    return (JSON.parse(stdout) as { services: Record<string, ComposeService> }).services;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const VARIABLE = /\$\{(\w+)(?::([-?])([^}]*))?\}/g;

/** Replaces `${NAME:-default}` and `${NAME:?problem}` by values; throws on a required one that is missing. */
function substitute(text: string, environment: Labels): string {
  return text.replace(VARIABLE, (_match, name: string, kind?: string, rest = '') => {
    const value = environment[name] ?? (kind === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name} ${rest}`);
    return value;
  });
}
