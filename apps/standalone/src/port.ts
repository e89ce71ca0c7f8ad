import { createServer } from 'node:net';
import { freePort, isFree } from '@tollkeeper/managed-process';

/**
 * Resolves to `port`, or to a free port for 0, after checking that it is free. The check comes before anything is
 * started that would have to be stopped again. If another program has the port, it rejects with advice.
 */
export async function requireFreePort(variable: string, host: string, port: number): Promise<number> {
  const wanted = port === 0 ? await freePort() : port;
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, variable, host, wanted)));
    server.listen(wanted, host, () => server.close(() => resolve(wanted)));
  });
}

/** Resolves to `port` of loopback if no other program has it, else to a free one. */
export async function findFreePort(port: number): Promise<number> {
  return port !== 0 && (await isFree(port)) ? port : freePort();
}

function explain(error: NodeJS.ErrnoException, variable: string, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    const way = `Stop the program that uses it, or choose another port: ${variable}=${port + 1} npm start`;
    return new Error(`Port ${port} of ${host} is in use. ${way}`);
  }
  if (error.code === 'EACCES') {
    return new Error(`This user may not open port ${port}. Choose a port above 1023: ${variable}=8080 npm start`);
  }
  return new Error(`Tollkeeper cannot listen on ${host}:${port}: ${error.message}. Check HOST and ${variable}.`);
}
