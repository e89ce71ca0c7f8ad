import { createServer } from 'node:http';
import { z } from 'zod';
import { runService, serviceConfig } from '../src/index.ts';

// A service with one slow endpoint. MODE makes it misbehave: `hang` never drains, `reject` leaves a rejection
// unhandled, `fail` cannot start.
const config = serviceConfig.extend({ MODE: z.enum(['good', 'hang', 'reject', 'fail']) });

await runService({
  name: 'fixture',
  version: '1.2.3',
  config,
  stopTimeoutMs: process.env['MODE'] === 'hang' ? 200 : 20_000,
  create: ({ config: { MODE } }) => {
    const server = createServer((_req, res) => {
      process.stdout.write('request\n');
      setTimeout(() => res.end('finished'), 300);
    });
    return {
      name: 'slow',
      async start() {
        if (MODE === 'fail') throw new Error('the port is taken');
        if (MODE === 'reject') void Promise.reject(new Error('lost'));
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        const address = server.address();
        if (typeof address === 'object') process.stdout.write(`port ${address?.port}\n`);
      },
      async stop() {
        if (MODE === 'hang') await new Promise(() => undefined);
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
});
