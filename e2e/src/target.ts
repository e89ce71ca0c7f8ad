/** A running Tollkeeper, however it is deployed: the facts that black-box suites need. */
export interface Target {
  /** The gateway's URL, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  readonly owner: { email: string; password: string };
  /** Slug of a workspace that belongs to the owner and that nobody else writes to. */
  readonly workspace: string;
  /** A `developer` key of that workspace. */
  readonly apiKey: string;
  /** All log lines of all of its processes so far. */
  logs(): string;
}

/** The target of a suite, which is known only after `beforeAll`. */
export type TargetOf = () => Target;
