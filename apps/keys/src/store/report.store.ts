import { type Connection, Schema, trusted } from 'mongoose';
import { MAX_REPORTS, type Report, type ReportStore } from '../domain/report.ts';

/** The reports of one workspace, while somebody looks. */
interface StoredReports {
  /** The workspace. */
  _id: string;
  watchedUntil: Date;
  /** Newest first. */
  reports: Report[];
}

const reportsSchema = new Schema<StoredReports>(
  {
    _id: { type: String, required: true },
    watchedUntil: { type: Date, required: true },
    reports: [{ type: Schema.Types.Mixed }],
  },
  { collection: 'watched_reports', versionKey: false },
);
reportsSchema.index({ watchedUntil: 1 }, { expireAfterSeconds: 0 });

/** Reports in the database of `connection`. Make it before the connection starts. */
export function createReportStore(connection: Connection): ReportStore {
  const watched = connection.model<StoredReports>('WatchedReports', reportsSchema);
  return {
    async watch(tenantId, watchedUntil) {
      const stored = await watched
        .findOneAndUpdate({ _id: tenantId }, { $set: { watchedUntil } }, { upsert: true, returnDocument: 'after' })
        .lean();
      return stored?.reports ?? [];
    },

    async isWatched(tenantId, at) {
      return (await watched.exists({ _id: tenantId, watchedUntil: trusted({ $gt: at }) })) !== null;
    },

    async keep(tenantId, report, at) {
      await watched.updateOne(
        { _id: tenantId, watchedUntil: trusted({ $gt: at }), 'reports.id': trusted({ $ne: report.id }) },
        { $push: { reports: { $each: [report], $position: 0, $slice: MAX_REPORTS } } },
      );
    },
  };
}
