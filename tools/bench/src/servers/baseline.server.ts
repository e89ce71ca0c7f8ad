import { once } from 'node:events';
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { announce } from './announce.ts';

// A bare proxy: no session, no tenant, no limits, no metrics, no log.
const app = express();
app.use(createProxyMiddleware({ target: process.env['UPSTREAM'] ?? '', agent: new Agent({ keepAlive: true }) }));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
announce({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
