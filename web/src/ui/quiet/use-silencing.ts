import { type SilenceRecord, useEndSilence, useSilence } from '../../api/alerts.ts'
import { offerUndo } from '../undo/undo.tsx'

/** Silences, and offers to take that back. `mutateAsync` of it outlives the menu or dialog that asked. */
export function useSilencing() {
  const silence = useSilence()
  const end = useEndSilence()
  return {
    isPending: silence.isPending,
    error: silence.error,
    /** @throws what the interface refused */
    async run(wanted: Parameters<typeof silence.mutateAsync>[0]): Promise<SilenceRecord> {
      const made = await silence.mutateAsync(wanted)
      offerUndo('Silenced', () => end.mutateAsync(made.id))
      return made
    },
  }
}
