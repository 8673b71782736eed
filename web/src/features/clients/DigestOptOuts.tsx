import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { optOutsQuery, useResumeDigests } from '../../api/digests.ts'
import { useSession } from '../../api/session.ts'
import { counted } from '../../lib/words.ts'
import { useFocusKept } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'

/** The addresses that have unsubscribed from the client's digests; viewers see how many. */
export function DigestOptOuts({ clientId }: { clientId: string }) {
  const { mayChange } = useSession()
  const { data = [] } = useQuery(optOutsQuery(clientId))
  const resume = useResumeDigests(clientId)
  useFocusKept(data.length)
  if (data.length === 0) return null
  if (!mayChange) return <div>{counted(data.length, 'address', 'addresses')} opted out</div>
  return data.map(({ id, email, opted_out_at }) => (
    <Group key={id} gap="xs" wrap="nowrap">
      <span>
        {email} opted out <RelativeTime at={opted_out_at} />
      </span>
      <Button
        flex="none"
        variant="subtle"
        size="compact-sm"
        aria-label={`Resume digests to ${email}`}
        loading={resume.isPending && resume.variables === id}
        onClick={() => resume.mutate(id)}
      >
        Resume
      </Button>
    </Group>
  ))
}
