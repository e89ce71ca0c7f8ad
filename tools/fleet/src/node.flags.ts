import { type ServiceName, TOPOLOGY } from '@tollkeeper/topology';

/**
 * Node flags for every service, as in its image.
 *
 * - `--disable-warning=TimeoutNegativeWarning`: the timers of kafkajs cause this harmless warning, which would be the
 *   only log line that is not JSON.
 * - `--no-allocation-site-pretenuring`: V8 observes which objects survive while a process starts, and may decide to
 *   allocate similar objects in the old generation from then on. Each of those keeps its references alive until the
 *   next full collection, even if nothing needs them any more. The edge then copies a quarter of all that its requests
 *   allocate, in pauses of 10 to 20 ms (ADR 13).
 * - `--heap-growing-percent=300`: in a heap as small as a pod's, V8 lets the old generation grow by about a third
 *   before the next full collection. Large bodies of events then cause ten times as many full collections as on a
 *   large machine, which cost ingest a third of its speed. The limit of the heap stays the same (ADR 13).
 */
export const NODE_FLAGS = [
  '--disable-warning=TimeoutNegativeWarning',
  '--no-allocation-site-pretenuring',
  '--heap-growing-percent=300',
];

/**
 * Limits the heap of a service to V8's share in its pod: half of the memory. Otherwise V8 uses the size of the whole
 * machine, and leaves more garbage than the pod has room for.
 */
export function heapFlag(service: ServiceName): string {
  return `--max-old-space-size=${TOPOLOGY[service].memoryMib / 2}`;
}
