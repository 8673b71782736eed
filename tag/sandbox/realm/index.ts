import { compileFunction, constants, createContext, runInContext } from 'node:vm'
import { furnish, type InnerFunction, type Inside } from './inside.ts'
import { Jobs } from './jobs.ts'
import { METHODS } from './language.ts'
import { show } from './plain.ts'
import { Promises } from './promises.ts'

export type { Inner, InnerFunction, Inside } from './inside.ts'
export { FORBIDDEN_PROPERTIES, METHODS } from './language.ts'
export { sameContent, show, toPlain } from './plain.ts'

/** Where a piece of code stands, so that errors name the line of the .tpl file. */
export interface Source {
  readonly text: string
  /** One-based line of its first character. */
  readonly line: number
  readonly file: string
}

/** A context with the language of the sandbox and nothing else: no global of Node, none of the standard library. */
export class Realm {
  readonly inside: Inside
  readonly jobs: Jobs
  readonly promises: Promises
  readonly #context: object

  /** `onError` is called with what jobs throw and with unhandled rejections. */
  constructor(onError: (error: unknown) => void) {
    this.#context = createContext(constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } })
    // Type stripping leaves plain JavaScript behind, so the source of the function is what runs inside.
    const start = runInContext(`(${furnish.toString()})`, this.#context) as typeof furnish
    this.inside = start(METHODS)
    this.jobs = new Jobs(onError)
    this.promises = new Promises(this.inside, this.jobs, onError)
  }

  /** The code as the body of a strict function with these parameters: `this` leads nowhere. */
  compile({ text, line, file }: Source, parameters: readonly string[]): InnerFunction {
    return compileFunction(`'use strict';${text}`, parameters, {
      parsingContext: this.#context,
      filename: file,
      lineOffset: line - 1,
    }) as InnerFunction
  }
}

/** The line of a file that an error points at, or null. */
export function errorLine(error: unknown, file: string): number | null {
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : ''
  const at = stack.split('\n').find((frame) => frame.includes(`${file}:`))
  const line = at?.slice(at.lastIndexOf(`${file}:`) + file.length + 1).match(/^\d+/)?.[0]
  return line === undefined ? null : Number(line)
}

/** What was thrown or rejected with, in one line. Errors of the sandbox are of another realm than ours. */
export function describeError(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return show(error)
  const name = 'name' in error && error.name !== 'Error' ? `${String(error.name)}: ` : ''
  return `${name}${String(error.message)}`
}
