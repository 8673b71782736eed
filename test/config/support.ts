import assert from 'node:assert/strict'
import { type Environment, readConfig } from '../../src/config.ts'
import { StartupError } from '../../src/lib/index.ts'

/** The one line with which an environment is refused. */
export function refusalOf(environment: Environment): string {
  try {
    readConfig(environment)
  } catch (thrown) {
    assert.ok(thrown instanceof StartupError)
    assert.doesNotMatch(thrown.message, /\n/)
    return thrown.message
  }
  return assert.fail(`${JSON.stringify(environment)} was taken`)
}
