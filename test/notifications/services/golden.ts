import { equal } from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** `UPDATE_GOLDEN=1` writes the files again: read what has changed in them before committing it. */
const updates = process.env.UPDATE_GOLDEN === '1'

/**
 * Compares with what people have read and found good.
 *
 * @param folder of the test; the file is in `golden` there
 */
export function equalGolden(folder: string, file: string, actual: string): void {
  const path = join(folder, 'golden', file)
  if (updates) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, actual)
  }
  equal(actual, readFileSync(path, 'utf8'), `${file} differs; UPDATE_GOLDEN=1 writes it again`)
}
