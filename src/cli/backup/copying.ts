import type { CopyWatch } from '../../store/index.ts'
import { withProgress } from '../progress.ts'
import { untilInterrupted } from './interruption.ts'

/** What a copy shows while it is made, and what ends it early. */
export interface Copying {
  watchCopy: CopyWatch
  interruption: AbortSignal
}

/** Runs `work`, shows how far its copy is, and resolves with its result and how long it took, seconds. */
export async function timedCopy<T>(
  title: string,
  work: (copying: Copying) => Promise<T>,
): Promise<{ result: T; seconds: number }> {
  const began = performance.now()
  const watchCopy: CopyWatch = async (total, copy) => {
    await withProgress(title, total, copy)
    console.error('checking the copy')
  }
  const result = await untilInterrupted((interruption) => work({ watchCopy, interruption }))
  return { result, seconds: (performance.now() - began) / 1_000 }
}
