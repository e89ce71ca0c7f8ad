import { type ServiceName, TOPOLOGY } from '@tollkeeper/topology';

/**
 * Flags of Node for every service, as its image has them.
 *
 * - `--disable-warning=TimeoutNegativeWarning`: the timers of kafkajs cause it. It means nothing, and it would be the
 *   only line of the log that is not JSON.
 * - `--no-allocation-site-pretenuring`: V8 looks at what survives while a process starts, and may decide to make the
 *   like of it among the old objects for good. Each of those keeps what it refers to alive until the next full
 *   collection, even when nobody needs it any more. The edge then copies a quarter of all that its requests allocate,
 *   in pauses of 10 to 20 ms (ADR 13).
 * - `--heap-growing-percent=300`: in a heap as small as that of a pod, V8 lets the old objects grow by a third or so
 *   before it collects all of them again. Large bodies of events then cause ten times as many full collections as on a
 *   large machine, and a third of ingest's speed goes into them. The limit of the heap stays what it is (ADR 13).
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
