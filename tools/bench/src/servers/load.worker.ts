import autocannon from 'autocannon';

export interface LoadRequest {
  url: string;
  headers: Record<string, string>;
  connections: number;
  seconds: number;
  /** Bodies that every connection posts in turn; without any, it sends GETs. */
  bodies?: string[];
}

export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Requests that were not answered with 2xx. */
  failed: number;
}

// One process makes the load on every server, so that each has the same client.
process.on('disconnect', () => process.exit());
process.on('message', ({ url, headers, connections, seconds, bodies }: LoadRequest) => {
  const posts = bodies && { method: 'POST' as const, requests: bodies.map((body) => ({ body })) };
  void autocannon({ url, headers, connections, duration: seconds, ...posts }).then((result) => {
    const answer: LoadResult = {
      requestsPerSecond: result.requests.total / result.duration,
      p50Ms: result.latency.p50,
      p99Ms: result.latency.p99,
      failed: result.non2xx + result.errors,
    };
    process.send?.(answer);
  });
});
process.send?.('ready');
