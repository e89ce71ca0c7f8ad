// Original file: tollkeeper/keys/v1/keys.proto


/**
 * Names of a sender of telemetry, which count before those that are known for all senders.
 */
export interface ReportMapping {
  /**
   * The attribute with the agent of a call; empty for none.
   */
  'agent'?: (string);
  /**
   * The attribute with the run of a call; empty for none.
   */
  'run'?: (string);
  /**
   * The attributes with labels, by the names of the labels; at most 8.
   */
  'labels'?: ({[key: string]: string});
  /**
   * Whether prices of tokens count before the costs that are reported.
   */
  'priceAnew'?: (boolean);
  /**
   * The name of our guard at the gateway; empty for `tollkeeper`.
   */
  'guard'?: (string);
}

/**
 * Names of a sender of telemetry, which count before those that are known for all senders.
 */
export interface ReportMapping__Output {
  /**
   * The attribute with the agent of a call; empty for none.
   */
  'agent': (string);
  /**
   * The attribute with the run of a call; empty for none.
   */
  'run': (string);
  /**
   * The attributes with labels, by the names of the labels; at most 8.
   */
  'labels': ({[key: string]: string});
  /**
   * Whether prices of tokens count before the costs that are reported.
   */
  'priceAnew': (boolean);
  /**
   * The name of our guard at the gateway; empty for `tollkeeper`.
   */
  'guard': (string);
}
