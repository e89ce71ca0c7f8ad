import { type Connection, Schema } from 'mongoose';
import type { DeviceLogin } from '../domain/device-login.ts';

export interface StoredDeviceLogin extends Omit<DeviceLogin, 'confirmation'> {
  /** SHA-256 of the device code, in hex. */
  _id: string;
  /** SHA-256 of the user code, in hex. Who guesses the code from it needs a session to use it, within ten minutes. */
  userSha256: string;
  network: string;
  confirmation: StoredConfirmation | null;
}

interface StoredConfirmation extends NonNullable<DeviceLogin['confirmation']> {
  /** SHA-256 of the hash of the user's password then. */
  passwordSha256: string;
}

const text = { type: String, required: true } as const;
const date = { type: Date, required: true } as const;

const schema = new Schema<StoredDeviceLogin>(
  {
    ...{ _id: text, userSha256: text, network: text, state: text },
    origin: { type: Schema.Types.Mixed, required: true },
    createdAt: date,
    expiresAt: date,
    polledAt: { type: Date, default: null },
    intervalSeconds: { type: Number, required: true },
    confirmation: { type: Schema.Types.Mixed, default: null },
  },
  { collection: 'device_logins', versionKey: false, minimize: false },
);
schema.index({ userSha256: 1 }, { unique: true });
schema.index({ network: 1, expiresAt: 1 });
// Of those that are confirmed.
schema.index({ 'confirmation.userId': 1 }, { sparse: true });
schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** The model of log-ins of programs, part of `createModels`. */
export function createDeviceLoginModel(connection: Connection) {
  return connection.model('DeviceLogin', schema);
}
