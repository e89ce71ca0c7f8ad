import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDirectory } from '@tollkeeper/managed-process';
import { goProgram } from '@tollkeeper/testing/go-program';

const run = promisify(execFile);

const INSTALL_TIMEOUT_MS = 9 * 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const REQUIREMENTS = resolve(import.meta.dirname, '..', 'requirements.txt');

/** The version in kubectl from 1.33 on, so that this builds what `kubectl apply -k` builds. */
const KUSTOMIZE = 'sigs.k8s.io/kustomize/kustomize/v5@v5.6.0';
/** The reference implementation of the Compose specification, which `docker compose` uses. */
const COMPOSE_SPEC = 'github.com/compose-spec/compose-go/v2/cmd@v2.16.2';
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7';

const ISTIO_API = 'istio.io/api@v1.32.0';
const ISTIO_DEFINITIONS = 'customresourcedefinitions.gen.yaml';

export interface ToolResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** `kustomize build` and the like. */
export async function kustomize(args: string[]): Promise<ToolResult> {
  return execute(await goProgram('kustomize', KUSTOMIZE), args);
}

/** `helm template` and the like. It reads no settings of the user, and no repositories. */
export async function helm(args: string[], env: NodeJS.ProcessEnv = {}): Promise<ToolResult> {
  const nowhere = join(tmpdir(), 'tollkeeper-helm-without-settings');
  const own = { HELM_CONFIG_HOME: nowhere, HELM_DATA_HOME: nowhere, HELM_CACHE_HOME: nowhere };
  return execute(await goProgram('helm', HELM), args, { ...own, ...env });
}

/** Loads a Compose file as `docker compose` does, without substituting variables. */
export async function composeSpec(args: string[]): Promise<ToolResult> {
  return execute(await goProgram('cmd', COMPOSE_SPEC), args);
}

/** Checks manifests against the schemas of a version of the Kubernetes API. */
export async function kubernetesValidate(args: string[]): Promise<ToolResult> {
  const packages = await findPythonPackages();
  return execute('python3', ['-m', 'kubernetes_validate', ...args], { PYTHONPATH: packages });
}

/** Lints workflows of GitHub Actions, without the linters of scripts that a machine may have. */
export async function actionlint(files: string[]): Promise<ToolResult> {
  return execute(await goProgram('actionlint', ACTIONLINT), ['-no-color', '-shellcheck=', '-pyflakes=', ...files]);
}

/** Lints a Dockerfile. */
export async function hadolint(args: string[]): Promise<ToolResult> {
  return execute(join(await findPythonPackages(), 'bin', 'hadolint'), args);
}

/** The definitions of Istio's resources, as Kubernetes checks them, in YAML. */
export async function istioDefinitions(): Promise<string> {
  const directory = await findInCache('istio-api', ISTIO_API, async (staging) => {
    const { Dir } = JSON.parse(await install('go', ['mod', 'download', '-json', ISTIO_API], {}, GO_MISSING)) as {
      Dir: string;
    };
    await copyFile(join(Dir, 'kubernetes', ISTIO_DEFINITIONS), join(staging, ISTIO_DEFINITIONS));
  });
  return readFile(join(directory, ISTIO_DEFINITIONS), 'utf8');
}

async function findPythonPackages(): Promise<string> {
  const { stdout: python } = await run('python3', ['--version']).catch(() => {
    throw new Error(PIP_MISSING);
  });
  // Some of the packages are built for one version of Python.
  const content = `${python}${await readFile(REQUIREMENTS, 'utf8')}`;
  return findInCache('python', content, async (staging) => {
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
    await install(
      'python3',
      ['-m', 'pip', 'install', ...options, '--target', staging, '-r', REQUIREMENTS],
      {},
      PIP_MISSING,
    );
  });
}

/** A directory that `fill` has completed, now or earlier. */
async function findInCache(kind: string, content: string, fill: (staging: string) => Promise<void>): Promise<string> {
  const version = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const target = join(defaultCacheDirectory(), 'tools', `${kind}-${version}`);
  if (await isThere(target)) return target;
  await mkdir(dirname(target), { recursive: true });
  const staging = await mkdtemp(join(dirname(target), '.staging-'));
  try {
    await fill(staging);
    // Another process may have been faster; its directory has the same content.
    await rename(staging, target).catch(async (error: unknown) => {
      if (!(await isThere(target))) throw error;
    });
    return target;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

const GO_MISSING =
  'The definitions of Istio are downloaded with Go, but `go` (1.24 or later) does not run. Install ' +
  'it (https://go.dev/doc/install, or `brew install go`) and start again.';
const PIP_MISSING =
  'The manifests are checked with kubernetes-validate from PyPI, but `python3 -m pip` does not run. Install Python 3 with ' +
  'pip (Debian and Ubuntu: `apt-get install python3-pip`) and start again.';

/** What it prints. */
async function install(program: string, args: string[], env: NodeJS.ProcessEnv, missing: string): Promise<string> {
  const options = { env: { ...process.env, ...env }, timeout: INSTALL_TIMEOUT_MS };
  const { stdout } = await run(program, args, options).catch((error: Error & { code?: unknown; stderr?: string }) => {
    const absent = error.code === 'ENOENT' || /No module named pip/.test(error.stderr ?? '');
    throw new Error(absent ? missing : `${program} ${args.join(' ')} failed: ${error.stderr || error.message}`, {
      cause: error,
    });
  });
  return stdout;
}

async function execute(program: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<ToolResult> {
  const options = { env: { ...process.env, ...env }, maxBuffer: MAX_OUTPUT_BYTES };
  try {
    return { exitCode: 0, ...(await run(program, args, options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return { exitCode: code, stdout: stdout ?? '', stderr: stderr ?? '' };
  }
}
