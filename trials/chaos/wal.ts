import { readFileSync } from 'node:fs'

// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_SIZE_AT = 8
const SALT_AT = 16
const SALT_BYTES = 8
/** In a frame's header: the database's size in pages if the frame ends a transaction, else 0. */
const COMMIT_SIZE_AT = 4
const FRAME_SALT_AT = 8

export interface WalEnd {
  /** Where the last committed transaction ends: what follows belongs to no transaction. */
  committedBytes: number
  fileBytes: number
  frameBytes: number
}

/** Looks for the end of what was committed to a write-ahead log that no process has open. */
export function endOfWal(path: string): WalEnd {
  const bytes = readFileSync(path)
  if (bytes.length < HEADER_BYTES) return { committedBytes: 0, fileBytes: bytes.length, frameBytes: FRAME_HEADER_BYTES }
  const salt = bytes.subarray(SALT_AT, SALT_AT + SALT_BYTES)
  const frameBytes = FRAME_HEADER_BYTES + bytes.readUInt32BE(PAGE_SIZE_AT)
  let committedBytes = HEADER_BYTES
  for (let at = HEADER_BYTES; at + frameBytes <= bytes.length; at += frameBytes) {
    // Frames of the log before, which this one writes over from its beginning, have another salt.
    if (!bytes.subarray(at + FRAME_SALT_AT, at + FRAME_SALT_AT + SALT_BYTES).equals(salt)) break
    if (bytes.readUInt32BE(at + COMMIT_SIZE_AT) > 0) committedBytes = at + frameBytes
  }
  return { committedBytes, fileBytes: bytes.length, frameBytes }
}
