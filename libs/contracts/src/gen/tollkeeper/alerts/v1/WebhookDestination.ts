// Original file: tollkeeper/alerts/v1/alerts.proto


/**
 * A receiver of Standard Webhooks.
 */
export interface WebhookDestination {
  /**
   * https URL.
   */
  'url'?: (string);
  /**
   * As it was configured, with a `whsec_` prefix or not; empty when deliveries are not signed.
   */
  'signingSecret'?: (string);
}

/**
 * A receiver of Standard Webhooks.
 */
export interface WebhookDestination__Output {
  /**
   * https URL.
   */
  'url': (string);
  /**
   * As it was configured, with a `whsec_` prefix or not; empty when deliveries are not signed.
   */
  'signingSecret': (string);
}
