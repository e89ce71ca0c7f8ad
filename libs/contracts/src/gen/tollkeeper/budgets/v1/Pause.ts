// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Until `until`, calls with this value get no reservations and no leases.
 */
export interface Pause {
  /**
   * `pau_…`
   */
  'id'?: (string);
  /**
   * `agent`, `key`, or `label:` and the name of a label.
   */
  'scope'?: (string);
  /**
   * An `agent_id`, the id of a workspace key or the value of the label.
   */
  'value'?: (string);
  /**
   * Epoch milliseconds.
   */
  'createdAt'?: (number | string | Long);
  'until'?: (number | string | Long);
  /**
   * For people, as is the name of the person who paused it.
   */
  'reason'?: (string);
  'pausedBy'?: (string);
}

/**
 * Until `until`, calls with this value get no reservations and no leases.
 */
export interface Pause__Output {
  /**
   * `pau_…`
   */
  'id': (string);
  /**
   * `agent`, `key`, or `label:` and the name of a label.
   */
  'scope': (string);
  /**
   * An `agent_id`, the id of a workspace key or the value of the label.
   */
  'value': (string);
  /**
   * Epoch milliseconds.
   */
  'createdAt': (number);
  'until': (number);
  /**
   * For people, as is the name of the person who paused it.
   */
  'reason': (string);
  'pausedBy': (string);
}
