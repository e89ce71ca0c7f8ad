import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { Identity } from './identity.ts';

/** A destination of notifications on this machine. */
export interface Receiver {
  url: string;
  stop(): Promise<void>;
}

/** The part of a notification's body that a line about it needs. */
interface Notification {
  type: string;
  data: { rule_name: string; severity: string; event_count: number; url: string };
}

/**
 * Accepts webhooks on loopback: 204 for a valid signature by Standard Webhooks, else 401. `say` gets a line about each.
 */
export async function startReceiver(
  { key, certificate, secret }: Identity,
  port: number,
  say: (line: string) => void,
): Promise<Receiver> {
  const webhook = new Webhook(secret);
  const seen = new Set<string>();
  const server = createServer({ key, cert: certificate }, (request, response) => {
    void text(request).then(
      (body) => response.writeHead(take(body, request.headers) ? 204 : 401).end(),
      () => response.destroy(),
    );
  });

  function take(body: string, headers: IncomingHttpHeaders): boolean {
    const id = String(headers['webhook-id']);
    try {
      const notification = webhook.verify(body, headers as Record<string, string>) as Notification;
      say(`${seen.has(id) ? 'again' : 'verified'}  ${describe(notification)}  ${id}`);
      seen.add(id);
      return true;
    } catch (error) {
      say(
        `refused  ${error instanceof Error ? error.message : String(error)}: is the channel's signing_secret this one?`,
      );
      return false;
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function describe({ type, data }: Notification): string {
  return `${type}  ${data.severity}  ${JSON.stringify(data.rule_name)}, ${data.event_count} events  ${data.url}`;
}
