import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Workshop } from './fault.ts'

const SIZE_MB = 32
const BLOCK_BYTES = 65_536
const SMALL_BLOCK_BYTES = 4_096

let answer: string | undefined | null = null

/** Why no small disk can be made here, or undefined when one can. */
export function smallDiskMissing(): string | undefined {
  if (answer === null) {
    const may =
      process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0
    answer = may ? undefined : 'it needs Linux and the right to mount a small file system'
  }
  return answer
}

/** A file system in memory with little room. */
export class SmallDisk {
  readonly folder: string
  readonly #ballast: string

  /** Mounts it until the fault's last round is over. @throws Error when that is not allowed */
  constructor({ newFolder, closers }: Workshop) {
    this.folder = newFolder()
    this.#ballast = join(this.folder, 'ballast')
    run('mount', '-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tagwarden-chaos', this.folder)
    // Lazily: a program that was killed a moment ago may still have files open.
    closers.add(() => run('umount', '-l', this.folder))
  }

  /** Takes all room that is left. */
  fill(): void {
    const file = openSync(this.#ballast, 'a')
    try {
      for (const size of [BLOCK_BYTES, SMALL_BLOCK_BYTES]) fillBy(file, Buffer.alloc(size, 1))
    } finally {
      closeSync(file)
    }
  }

  makeRoom(): void {
    rmSync(this.#ballast, { force: true })
  }
}

function fillBy(file: number, block: Buffer): void {
  for (;;) {
    try {
      if (writeSync(file, block) < block.length) return
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC') return
      throw thrown
    }
  }
}

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}
