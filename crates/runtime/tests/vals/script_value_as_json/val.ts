export default {
  big: 2n ** 70n, date: new Date(0), missing: undefined, call() {}, map: new Map(), nan: NaN, text: 'é\n',
};
