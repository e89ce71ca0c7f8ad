/** A person who can log in. `email` is lower case and unique. */
export interface User {
  id: string;
  email: string;
  name: string;
  /** PHC string (`password.hasher.ts`). */
  passwordHash: string;
  createdAt: Date;
}

export interface UserStore {
  findById(userId: string): Promise<User | null>;
  findByEmail(email: string): Promise<User | null>;
  /**
   * Replaces the password and revokes all sessions of the user except the named one, in one step. False, with nothing
   * changed, when the password is no longer `from`.
   */
  changePassword(userId: string, change: { from: string; to: string; keepSession: string | null }): Promise<boolean>;
}
