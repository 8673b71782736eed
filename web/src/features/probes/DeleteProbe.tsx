import { type ProbeRecord, useDeleteProbe } from '../../api/probes.ts'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'

interface Props {
  /** Null: nothing is asked. */
  probe: ProbeRecord | null
  onClose: () => void
  onDeleted?: () => void
}

export function DeleteProbe({ probe, onClose, onDeleted }: Props) {
  const remove = useDeleteProbe(probe?.id ?? '')
  if (probe === null) return null
  return (
    <ConfirmByName
      opened
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync(undefined)
        onDeleted?.()
      }}
      title={`Delete the probe ${probe.name}`}
      name={probe.name}
      action="Delete the probe"
    >
      Deletes all of its results, and what it has learned. Its alert, if one is open, can no longer resolve
      automatically. To keep them, switch the probe off instead.
    </ConfirmByName>
  )
}
