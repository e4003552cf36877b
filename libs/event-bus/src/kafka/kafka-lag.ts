import type { Admin } from 'kafkajs';
import { consumedTopics, consumerGroupId } from './kafka-topics.ts';
import { untilLeadersElected } from './until-leaders-elected.ts';

const later = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Records between what a group has committed and the end of a topic and of the group's redrive topic. */
export async function countWaiting(admin: Admin, topic: string, group: string): Promise<number> {
  const topics = consumedTopics(topic, group);
  const committed = await admin.fetchOffsets({ groupId: consumerGroupId(topic, group), topics });
  const placeOf = (name: string, partition: number) =>
    committed.find((each) => each.topic === name)?.partitions.find((each) => each.partition === partition)?.offset;
  let waiting = 0n;
  for (const name of topics)
    for (const { partition, high, low } of await untilLeadersElected(() => admin.fetchTopicOffsets(name))) {
      // "-1" where nothing is committed yet; less than `low` where records have left the topic meanwhile.
      const place = later(BigInt(placeOf(name, partition) ?? -1), BigInt(low));
      waiting += later(BigInt(high) - place, 0n);
    }
  return Number(waiting);
}
