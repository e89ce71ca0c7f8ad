// Original file: tollkeeper/notifier/v1/notifier.proto


export interface SendTestResponse {
  /**
   * HTTP status of the destination's answer.
   */
  'responseStatus'?: (number);
  /**
   * Start of the answer's body, at most 1 KiB of text.
   */
  'responseSnippet'?: (string);
}

export interface SendTestResponse__Output {
  /**
   * HTTP status of the destination's answer.
   */
  'responseStatus': (number);
  /**
   * Start of the answer's body, at most 1 KiB of text.
   */
  'responseSnippet': (string);
}
