import { Button, Group, Text } from '@mantine/core'
import { Undo2 } from 'lucide-react'
import { type AlertDetail, useGiveFeedback, useWithdrawFeedback } from '../../api/alerts.ts'
import { saidBy, useMyName, useSession } from '../../api/session.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { personName } from '../../lib/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Panel } from './AlertChart.tsx'

type Feedback = NonNullable<AlertDetail['feedback']>['verdict']

/** The feedback that people can give on an alert. */
const FEEDBACKS: readonly Feedback[] = ['not_a_problem', 'real']

const FEEDBACK_WORDS: Readonly<Record<Feedback, string>> = {
  not_a_problem: 'Not a problem',
  real: 'This was real',
}

const FEEDBACK_EFFECTS: Readonly<Record<Feedback, string>> = {
  not_a_problem: 'This time counts as usual, and it takes more for the next alert.',
  real: 'This time does not count as usual.',
}

interface AlertFeedbackProps {
  alert: AlertDetail
  zone: string | undefined
}

/** Whether the alert was right, which the site's probes learn from. */
export function AlertFeedback({ alert, zone }: AlertFeedbackProps) {
  const { mayChange } = useSession()
  const give = useGiveFeedback()
  const withdraw = useWithdrawFeedback()
  const [name] = useMyName()
  const { id, feedback } = alert
  if (!alert.takes_feedback || (feedback === null && !mayChange)) return null
  const isBusy = give.isPending || withdraw.isPending
  return (
    <Panel title="Was this alert right?">
      {mayChange && (
        <Group gap="xs">
          {FEEDBACKS.map((verdict) => (
            <Button
              key={verdict}
              size="compact-sm"
              variant={feedback?.verdict === verdict ? 'light' : 'default'}
              aria-pressed={feedback?.verdict === verdict}
              // One that is disabled would lose the focus.
              aria-disabled={isBusy}
              onClick={() => {
                if (!isBusy) give.mutate({ id, verdict, ...saidBy(name) }, { onError: failed })
              }}
            >
              {FEEDBACK_WORDS[verdict]}
            </Button>
          ))}
          {feedback !== null && (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<Undo2 size={14} aria-hidden />}
              aria-disabled={isBusy}
              onClick={() => {
                if (!isBusy) withdraw.mutate(id, { onError: failed })
              }}
            >
              Undo
            </Button>
          )}
        </Group>
      )}
      <Text size="sm" c="dimmed" mt={mayChange ? 'xs' : 0} role="status">
        {feedback === null ? (
          'The answer changes what the probes of this site expect. You can undo it.'
        ) : (
          <>
            {FEEDBACK_WORDS[feedback.verdict]}, by {personName(feedback.by)},{' '}
            <RelativeTime at={feedback.at} {...(zone === undefined ? {} : { zone })} />.{' '}
            {FEEDBACK_EFFECTS[feedback.verdict]}
          </>
        )}
      </Text>
    </Panel>
  )
}

const failed = notifyOf('Not changed')
