// Original file: tollkeeper/alerts/v1/alerts.proto


/**
 * An incoming webhook of a chat service.
 */
export interface ChatDestination {
  /**
   * https URL. All of it is secret.
   */
  'webhookUrl'?: (string);
}

/**
 * An incoming webhook of a chat service.
 */
export interface ChatDestination__Output {
  /**
   * https URL. All of it is secret.
   */
  'webhookUrl': (string);
}
