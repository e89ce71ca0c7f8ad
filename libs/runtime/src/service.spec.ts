import { expect, it } from '@jest/globals';
import type { Component } from './lifecycle.ts';
import { createLogger } from './logger.ts';
import { assembleService } from './service.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

it('a service starts its parts, then gRPC, then HTTP, stops them in reverse and is reached where its servers listen', async () => {
  const steps: string[] = [];
  const part = (name: string): Component => ({
    name,
    start: async () => void steps.push(`start ${name}`),
    stop: async () => void steps.push(`stop ${name}`),
  });
  const service = assembleService({
    name: 'test',
    logger,
    parts: [part('database'), part('consumer')],
    grpc: { ...part('grpc'), address: 'localhost:9090' },
    http: {
      ...part('http'),
      get url() {
        return steps.includes('start http') ? 'http://localhost:8080' : '';
      },
    },
  });

  await service.start();
  expect(service).toMatchObject({ grpcAddress: 'localhost:9090', httpUrl: 'http://localhost:8080' });
  await service.stop();
  const started = ['database', 'consumer', 'grpc', 'http'];
  expect(steps).toEqual([
    ...started.map((name) => `start ${name}`),
    ...started.toReversed().map((name) => `stop ${name}`),
  ]);
});
