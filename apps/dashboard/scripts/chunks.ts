import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { connectMongo } from '@tollkeeper/mongo';
import { createLogger, loadConfig, mongodbFields } from '@tollkeeper/runtime';
import { mongo } from 'mongoose';
import { z } from 'zod';
import { openEvents, readMarks } from '../src/store/chunks/chunk.codec.ts';
import type { ChunkDocument } from '../src/store/chunks/chunk.packing.ts';

const USAGE = `Prints what is packed in chunks of the dashboard as JSON lines.

  npm run -s chunks -w @tollkeeper/dashboard -- [--id CHUNK] [--tenant WORKSPACE_ID] [--from TIME] [--to TIME]

A line is an event, or a run with the time at which it starts. TIMEs are in RFC 3339; whole chunks are printed. A chunk
that can't be read is named on stderr, and the exit code is 1.
MONGODB_URI names the database server, MONGODB_DATABASE the database (tollkeeper_dashboard).`;

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { id: text, tenant: text, from: text, to: text, help: { type: 'boolean' } } });
if (values.help) console.log(USAGE);
else await print();

async function print(): Promise<void> {
  const config = loadConfig(z.object(mongodbFields('tollkeeper_dashboard')), process.env);
  const logger = createLogger({ service: 'chunks', level: 'error' });
  const database = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  await database.start();
  const chunks = database.connection.collection<ChunkDocument>('chunks');
  async function* lines(): AsyncGenerator<string> {
    for await (const chunk of chunks.find(toFilter()).sort({ tenantId: 1, to: 1 })) {
      try {
        yield linesOf(chunk);
      } catch (error) {
        console.error(
          `Chunk ${chunk._id.toHexString()} can't be read: ${error instanceof Error ? error.message : error}`,
        );
        process.exitCode = 1;
      }
    }
  }
  try {
    await pipeline(Readable.from(lines()), process.stdout, { end: false });
  } finally {
    await database.stop();
  }
}

function linesOf({ _id, tenantId, events, marks }: ChunkDocument): string {
  const place = { chunk: _id.toHexString(), tenant_id: tenantId };
  const ofEvents = [...openEvents(tenantId, bytesOf(events)).events()].map(({ eventId, source, type, time, data }) =>
    line({ ...place, event_id: eventId, source, type, time: new Date(time), data }),
  );
  const ofRuns = (marks === undefined ? [] : readMarks(bytesOf(marks))).map(({ runId, time, starts }) =>
    line({ ...place, run_id: runId, [starts === 1 ? 'starts_at' : 'no_longer_starts_at']: new Date(time) }),
  );
  return [...ofEvents, ...ofRuns].join('');
}

function toFilter(): mongo.Filter<ChunkDocument> {
  const { id, tenant, from, to } = values;
  return {
    ...(id !== undefined && { _id: new mongo.ObjectId(id) }),
    ...(tenant !== undefined && { tenantId: tenant as ChunkDocument['tenantId'] }),
    ...(from !== undefined && { to: { $gte: toTime(from) } }),
    ...(to !== undefined && { from: { $lt: toTime(to) } }),
  };
}

function toTime(given: string): Date {
  const time = new Date(given);
  if (Number.isNaN(time.getTime())) throw new Error(`${given} is not an RFC 3339 time such as 2026-11-24T10:00:00Z`);
  return time;
}

function bytesOf(binary: mongo.Binary): Uint8Array {
  return binary.buffer.subarray(0, binary.position);
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
