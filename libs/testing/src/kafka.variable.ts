/** Environment variable that passes the address of the run's Kafka from the global set-up to the suites. */
export const KAFKA_BROKERS_VARIABLE = 'TOLLKEEPER_TEST_KAFKA_BROKERS';
