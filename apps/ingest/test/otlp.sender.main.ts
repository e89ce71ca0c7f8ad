// Sends bodies for `npm run bench:otlp`, in a process of its own.
import { once } from 'node:events';
import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import type { Sending, Transport } from './otlp.transports.ts';

type Post = (() => Promise<void>) & { close?: () => void };

const POSTS: Record<Transport, (sending: Sending) => Post> = {
  HTTP({ url, bytes, encoding, gzip }) {
    const text = Buffer.from(bytes, 'base64');
    const body = Buffer.from(gzip ? gzipSync(text) : text);
    const type = encoding === 'json' ? 'application/json' : 'application/x-protobuf';
    const headers = { 'content-type': type, ...(gzip && { 'content-encoding': 'gzip' }) };
    return async () => {
      const answer = await fetch(`${url}/v1/traces`, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    };
  },
  gRPC({ url, bytes, gzip }) {
    const session = connect(url);
    const text = Buffer.from(bytes, 'base64');
    const payload = gzip ? gzipSync(text) : text;
    const message = Buffer.concat([Buffer.from([Number(gzip), 0, 0, 0, 0]), payload]);
    message.writeUInt32BE(payload.length, 1);
    const headers = {
      ':method': 'POST',
      ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      'content-type': 'application/grpc',
      ...(gzip && { 'grpc-encoding': 'gzip' }),
    };
    const post = async () => {
      const stream = session.request(headers);
      let status: unknown;
      stream.on('trailers', (trailers) => (status = trailers['grpc-status'])).resume();
      stream.end(message);
      await once(stream, 'close');
      if (status !== '0') throw new Error(`grpc-status ${String(status)}`);
    };
    return Object.assign(post, { close: () => session.close() });
  },
};

process.on('message', (sending: Sending) => void send(sending));

async function send(sending: Sending): Promise<void> {
  const post = POSTS[sending.transport](sending);
  process.send?.('ready');
  for (let i = 0; i < sending.requests; i += 1) await post();
  post.close?.();
  process.send?.('sent');
}
