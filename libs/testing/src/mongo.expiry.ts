import mongoose from 'mongoose';

/** Keeps expired documents: `mongod` expires by the clock of the machine, which differs from that of most tests. */
export async function keepExpired(uri: string): Promise<void> {
  const connection = await mongoose.createConnection(uri).asPromise();
  await connection.getClient().db('admin').command({ setParameter: 1, ttlMonitorEnabled: false });
  await connection.close();
}
