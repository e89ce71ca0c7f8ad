import type { Readable } from 'node:stream';

/**
 * Reads a stream of messages only while there is room: `pause` would leave 16 of them in its buffer. The next one is
 * fetched only after the one before was emitted, since many may come in one frame. Call the result when there may be
 * room again.
 */
export function readWhile(hasRoom: () => boolean, stream: Readable): () => void {
  const fetch = stream._read.bind(stream);
  let isDue = false;
  let isFetching = false;

  function fetchIfRoom(): void {
    if (!isDue || isFetching || !hasRoom()) return;
    isDue = false;
    isFetching = true;
    fetch(1);
  }
  stream._read = () => {
    isDue = true;
    fetchIfRoom();
  };
  stream.on('data', () => {
    isFetching = false;
  });
  return fetchIfRoom;
}
