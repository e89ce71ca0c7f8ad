import type { Connection } from 'mongoose';

/** How many documents of `collections` the server reads during `work`, by the profiler of the connection's database. */
export async function documentsRead(
  { db }: Connection,
  work: () => Promise<unknown>,
  collections = ['blocked_events', 'chunks'],
): Promise<number> {
  await db!.command({ profile: 2 });
  try {
    await work();
  } finally {
    await db!.command({ profile: 0 });
  }
  const profile = db!.collection('system.profile');
  const first = ['find', 'aggregate'].map((command) => ({ [`command.${command}`]: { $in: collections } }));
  const further = { 'command.collection': { $in: collections }, op: 'getmore' };
  const reads = await profile.find({ $or: [...first, further] }).toArray();
  await profile.drop();
  return reads.reduce((sum, { docsExamined }) => sum + Number(docsExamined), 0);
}
