import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const PROGRAMS: Record<string, string> = {
  containerd: 'containerd',
  ctr: 'containerd',
  debootstrap: 'debootstrap',
  gcc: 'gcc libc6-dev libseccomp-dev',
  go: 'golang',
  iptables: 'iptables',
  conntrack: 'conntrack',
  ip: 'iproute2',
  sysctl: 'procps',
  unshare: 'util-linux',
};

/** What is missing to run containers here: a sentence each, with how to fix it. */
export function missingPrerequisites(): string[] {
  const problems: string[] = [];
  if (process.platform !== 'linux') return ['Containers need Linux.'];
  if (process.getuid?.() !== 0) problems.push('Only root can make namespaces and containers: start it as root.');
  const packages = Object.entries(PROGRAMS)
    .filter(([program]) => !isOnPath(program))
    .map(([, name]) => name);
  if (!existsSync('/usr/lib/cni/bridge')) packages.push('containernetworking-plugins');
  if (packages.length > 0) {
    const list = [...new Set(packages)].join(' ');
    problems.push(`Programs are missing. On Debian: apt-get install --no-install-recommends ${list}`);
  }
  return problems;
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
