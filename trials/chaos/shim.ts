import { spawnSync } from 'node:child_process'
import { closeSync, openSync, realpathSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { Workshop } from './fault.ts'

const SOURCE = join(import.meta.dirname, 'shim.c')
/** Fields of `struct control` in shim.c, in its order. */
const FIELDS = ['clockMs', 'syncMs', 'syncError', 'writeError', 'writesLeft', 'diesAt', 'tornBytes'] as const
const FIELD_BYTES = 8

export const ERRORS = {
  io: constants.errno.EIO,
  readOnly: constants.errno.EROFS,
  full: constants.errno.ENOSPC,
} as const

/** Files whose writes are counted until the process dies at one. */
export const DIES_AT = { log: 1, database: 2 } as const

export type Orders = Partial<Record<(typeof FIELDS)[number], number>>

let compiler: boolean | undefined

/** Why the shim cannot be used here, or undefined when it can. */
export function shimMissing(): string | undefined {
  if (process.platform !== 'linux') return 'it needs LD_PRELOAD, so Linux'
  compiler ??= spawnSync('cc', ['--version']).status === 0
  return compiler ? undefined : 'it needs a C compiler (cc)'
}

/** A library loaded ahead of a process that makes its disk and its clock misbehave on order. */
export class Shim {
  /** For the process. */
  readonly environment: Readonly<Record<string, string>>
  readonly #control: number

  /** @param folder the files below it are those whose writes can be disturbed */
  constructor({ newFolder, closers }: Workshop, folder: string) {
    const own = newFolder()
    const library = join(own, 'shim.so')
    const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl'])
    if (status !== 0) throw new Error(`shim.c does not compile: ${stderr}`)
    const control = join(own, 'control')
    this.#control = openSync(control, 'w+')
    closers.add(() => closeSync(this.#control))
    this.environment = { LD_PRELOAD: library, CHAOS_CONTROL: control, CHAOS_FOLDER: realpathSync(folder) }
    this.order({})
  }

  /** From now on the process does this and nothing else; the process sees it at its next call of the system. */
  order(orders: Orders): void {
    const bytes = Buffer.alloc(FIELDS.length * FIELD_BYTES)
    FIELDS.forEach((field, index) => {
      bytes.writeBigInt64LE(BigInt(Math.round(orders[field] ?? 0)), index * FIELD_BYTES)
    })
    writeSync(this.#control, bytes, 0, bytes.length, 0)
  }
}
