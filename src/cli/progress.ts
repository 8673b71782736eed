/** Where progress is shown: by default standard error, so that a command's output can be piped. */
export type ProgressStream = NodeJS.WritableStream & { isTTY?: boolean }

/** Reports how much of the total is done. */
export type Update = (done: number) => void

const TENTHS = 10

/**
 * Runs `work` and shows its progress: a bar on a terminal, otherwise a line for every 10 %. The bar is also removed when the work
 * fails, so that the error gets its own line.
 *
 * @param total the value of `update` when everything is done
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
    // By default the terminal's own wrapping is switched off, and stays so after Ctrl-C, as would a hidden cursor.
    linewrap: true,
    stream,
  })
  shown.start(total, 0)
  return { update: (done) => shown.update(done), end: () => shown.stop() }
}

function lines(title: string, total: number, stream: ProgressStream): Display {
  let shown = 0
  const update = (done: number): void => {
    const tenths = total > 0 ? Math.min(TENTHS, Math.floor((done * TENTHS) / total)) : TENTHS
    if (tenths <= shown) return
    shown = tenths
    stream.write(`${title}: ${tenths * TENTHS} %\n`)
  }
  return { update, end: () => undefined }
}
