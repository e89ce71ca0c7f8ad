import type { Admin } from 'kafkajs';
import type { OpenKafkaClient } from './kafka.client.ts';

/** A connection for requests that do not read or write records. */
export interface AdminConnection {
  /**
   * Runs one call at a time: in kafkajs, all calls of a client share the metadata of topics. A failed call closes the
   * connection, and the next one opens another.
   */
  use<T>(call: (admin: Admin) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface OpenAdmin {
  admin: Admin;
  close(): Promise<void>;
}

export function createAdminConnection(openClient: OpenKafkaClient): AdminConnection {
  let current: Promise<OpenAdmin> | undefined;
  let lastCall: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function open(): Promise<OpenAdmin> {
    if (closed) throw new Error('The event log is stopped');
    const client = openClient();
    const admin = client.kafka.admin();
    const close = async (): Promise<void> => {
      await admin.disconnect().catch(() => undefined);
      client.close();
    };
    try {
      await admin.connect();
    } catch (error) {
      client.close();
      throw error;
    }
    return { admin, close };
  }

  async function run<T>(call: (admin: Admin) => Promise<T>): Promise<T> {
    const opened = (current ??= open());
    try {
      return await call((await opened).admin);
    } catch (error) {
      if (current === opened) current = undefined;
      void opened.then(({ close }) => close()).catch(() => undefined);
      throw error;
    }
  }

  return {
    use(call) {
      const answer = lastCall.then(() => run(call));
      lastCall = answer.catch(() => undefined);
      return answer;
    },
    async close() {
      closed = true;
      const opened = current;
      current = undefined;
      await opened?.then(({ close }) => close()).catch(() => undefined);
    },
  };
}
