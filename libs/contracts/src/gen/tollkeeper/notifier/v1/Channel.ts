// Original file: tollkeeper/notifier/v1/notifier.proto


export interface Channel {
  'id'?: (string);
  /**
   * `chat` or `webhook`; of a newer notifier it may be any text.
   */
  'type'?: (string);
  /**
   * False: nothing is sent to the channel.
   */
  'enabled'?: (boolean);
  /**
   * Rises with each change of the channel, so that a caller knows the newer of two answers.
   */
  'revision'?: (number);
}

export interface Channel__Output {
  'id': (string);
  /**
   * `chat` or `webhook`; of a newer notifier it may be any text.
   */
  'type': (string);
  /**
   * False: nothing is sent to the channel.
   */
  'enabled': (boolean);
  /**
   * Rises with each change of the channel, so that a caller knows the newer of two answers.
   */
  'revision': (number);
}
