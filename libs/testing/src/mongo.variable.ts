/**
 * Environment variable that carries the connection string of the run's `mongod` from the global set-up, which jest
 * loads outside of its test environment, to the suites.
 */
export const MONGO_URI_VARIABLE = 'TOLLKEEPER_TEST_MONGODB_URI';
