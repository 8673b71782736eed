import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useRetryDelivery } from '../../api/deliveries.ts'

/** Has a message sent now that was not delivered. */
export function RetryButton({ id }: { id: string }) {
  const retry = useRetryDelivery()
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={retry.isPending}
      onClick={(event) => {
        // The row leads to the alert.
        event.stopPropagation()
        retry.mutate(id, {
          onError: ({ message }) => notifications.show({ color: 'danger', title: 'Not sent again', message }),
        })
      }}
    >
      Send now
    </Button>
  )
}
