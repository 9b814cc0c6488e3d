const round: Record<string, unknown> = {};
round.round = round;
export default round;
