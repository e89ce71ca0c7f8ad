// Original file: tollkeeper/identity/v1/identity.proto


export interface Workspace {
  /**
   * The tenant id that scopes every operation.
   */
  'id'?: (string);
  'slug'?: (string);
  'name'?: (string);
  /**
   * IANA name of the time zone in which the days of the workspace begin.
   */
  'timezone'?: (string);
  /**
   * Names of the labels whose spend the dashboard keeps apart, at most 5.
   */
  'trackedLabels'?: (string)[];
}

export interface Workspace__Output {
  /**
   * The tenant id that scopes every operation.
   */
  'id': (string);
  'slug': (string);
  'name': (string);
  /**
   * IANA name of the time zone in which the days of the workspace begin.
   */
  'timezone': (string);
  /**
   * Names of the labels whose spend the dashboard keeps apart, at most 5.
   */
  'trackedLabels': (string)[];
}
