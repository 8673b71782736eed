/** Where progress goes: standard error, so that what a command prints can be piped. */
export type ProgressStream = NodeJS.WritableStream & { isTTY?: boolean }

/** Takes how much of the total has been done. */
export type Update = (done: number) => void

const TENTHS = 10

/**
 * Runs `work` and shows how far it has come: a bar on a terminal, otherwise a plain line at most every 10 %. The bar is
 * taken down when the work fails, too, so that the error has a line of its own.
 *
 * @param total what `update` counts up to
 */
export async function withProgress<T>(
  title: string,
  total: number,
  work: (update: Update) => Promise<T>,
  stream: ProgressStream = process.stderr,
): Promise<T> {
  const { update, end } = stream.isTTY === true ? await bar(title, total, stream) : lines(title, total, stream)
  try {
    const result = await work(update)
    update(total)
    return result
  } finally {
    end()
  }
}

interface Display {
  update: Update
  end: () => void
}

async function bar(title: string, total: number, stream: ProgressStream): Promise<Display> {
  const { SingleBar } = await import('cli-progress')
  const shown = new SingleBar({
    format: `${title} {bar} {percentage} % | {eta_formatted} left`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    stream,
  })
  shown.start(total, 0)
  return { update: (done) => shown.update(done), end: () => shown.stop() }
}

function lines(title: string, total: number, stream: ProgressStream): Display {
  let shown = 0
  const update = (done: number): void => {
    const tenths = Math.min(TENTHS, Math.floor((done * TENTHS) / total))
    if (tenths <= shown) return
    shown = tenths
    stream.write(`${title}: ${tenths * TENTHS} %\n`)
  }
  return { update, end: () => undefined }
}
